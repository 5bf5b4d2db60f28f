#include "CInterfaces.h"

static const char authentication[] = {
#embed "../../data/dbus/org.whorl.Authentication1.xml"
    , 0};

static const char keychain[] = {
#embed "../../data/dbus/org.whorl.Keychain1.xml"
    , 0};

static const char agent[] = {
#embed "../../data/dbus/org.whorl.Agent1.xml"
    , 0};

static const char fprint_manager[] = {
#embed "../../data/dbus/net.reactivated.Fprint.Manager.xml"
    , 0};

static const char fprint_device[] = {
#embed "../../data/dbus/net.reactivated.Fprint.Device.xml"
    , 0};

const char *whorl_interface_authentication(void) { return authentication; }
const char *whorl_interface_keychain(void) { return keychain; }
const char *whorl_interface_agent(void) { return agent; }
const char *whorl_interface_fprint_manager(void) { return fprint_manager; }
const char *whorl_interface_fprint_device(void) { return fprint_device; }
