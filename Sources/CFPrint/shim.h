// libfprint's public header; macros that Swift cannot see are wrapped as inline functions here.
#pragma once
#include <libfprint-2/fprint.h>
#include <libfprint-2/fp-image-device.h>
