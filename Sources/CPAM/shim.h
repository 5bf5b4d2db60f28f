#pragma once
#include <security/pam_appl.h>
