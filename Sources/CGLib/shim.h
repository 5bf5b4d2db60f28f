// What Swift cannot see of GLib and GIO by itself: macros and variadic functions, wrapped as inline functions.
#pragma once
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>

// Bus: a connection's "closed" signal with its own callback type instead of the GCallback cast macro.
// data stays referenced until the signal handler goes; destroy then lets it go.
static inline gulong cglib_connect_closed(GDBusConnection *connection,
                                          void (*closed)(GDBusConnection *, gboolean, GError *, gpointer),
                                          gpointer data, GClosureNotify destroy) {
    return g_signal_connect_data(connection, "closed", G_CALLBACK(closed), data, destroy, (GConnectFlags)0);
}
