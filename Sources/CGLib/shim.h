// What Swift cannot see of GLib and GIO by itself: macros and variadic functions, wrapped as inline functions.
#pragma once
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
