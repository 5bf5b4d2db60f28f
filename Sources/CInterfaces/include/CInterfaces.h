// The D-Bus interfaces of data/dbus as text: the files there are the one source, built into whorld and whorl.
#pragma once
const char *whorl_interface_authentication(void);
const char *whorl_interface_keychain(void);
const char *whorl_interface_agent(void);
const char *whorl_interface_fprint_manager(void);
const char *whorl_interface_fprint_device(void);
