# Whorl. `make demo` and `make test` are all a fresh Debian 12 machine with the Swift toolchain needs.
#
#   make             build the programs and the PAM module into build/
#   make demo        the main job on a virtual reader (READER=real: on the real one); touches nothing of the machine's
#   make test        every test
#   make test-system the PAM module in real programs (sudo, su, login, polkit, sshd, i3lock and others), in namespaces; part of make test. NAMES=
#   make test-packages  packages for Apple's platforms, unmodified, and their tests; clones in PACKAGES=; part of make test
#   make soak        mixed operations while clients, bridges and readers die: OPERATIONS=20000 SEED=
#   make bench       speed and size of the keychain: ITEMS="10 1000 100000"; how long logins without a finger take
#   make fuzz        hostile rows, keybags, export files and queries: SECONDS=600 each; what fails is in build/fuzz
#   make lint        formatting, clang-tidy, man pages, dependency rules
#   make toolset     what unmodified packages for Apple's platforms are built over, into build/toolset; part of make
#   make install     DESTDIR= PREFIX=/usr/local
#   make uninstall   takes Whorl's lines out of the PAM stacks first
#   make clean

PREFIX ?= /usr/local
DESTDIR ?=
READER ?= virtual
SWIFT ?= swift
SCRATCH ?= .build
MULTIARCH := $(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch 2>/dev/null || echo x86_64-linux-gnu)

BINDIR = $(PREFIX)/bin
LIBEXECDIR = $(PREFIX)/libexec/whorl
MANDIR = $(PREFIX)/share/man
# The modules that whorl-toolset.json names, for Swift programs.
SWIFTDIR = $(PREFIX)/lib/whorl/swift
TOOLSETDIR = $(PREFIX)/share/whorl
# Where PAM, D-Bus, polkit and systemd look, whatever PREFIX is.
PAMDIR = /usr/lib/$(MULTIARCH)/security
SYSTEMPREFIX = $(if $(filter /usr,$(PREFIX)),/usr,/usr/local)
BUSSERVICEDIR = $(SYSTEMPREFIX)/share/dbus-1/system-services
BUSPOLICYDIR = /usr/share/dbus-1/system.d
POLKITDIR = /usr/share/polkit-1/actions
UNITDIR = $(SYSTEMPREFIX)/lib/systemd/system
USERUNITDIR = $(SYSTEMPREFIX)/lib/systemd/user
AUTOSTARTDIR = /etc/xdg/autostart
SYSUSERSDIR = /usr/lib/sysusers.d
UDEVDIR = /usr/lib/udev/rules.d
PAMCONFIGDIR = /usr/share/pam-configs
COMPLETIONDIR = $(SYSTEMPREFIX)/share/bash-completion/completions

PROGRAMS = whorl whorld whorl-reader whorl-passcode whorl-embedded

.PHONY: all programs toolset demo test test-system test-packages soak fuzz fuzz-one fuzz-corpus bench lint install uninstall clean packages-build packages-test format
all: programs build/pam_whorl.so catalogues toolset

packages-build:
	@Tests/packages.sh build

packages-test:
	@Tests/packages.sh build test

# SwiftPM knows best what is out of date.
programs:
	@pkg-config --exists libfprint-2 gio-unix-2.0 libsystemd libsodium sqlite3 libcrypto libseccomp || \
	  { echo "make: Debian packages are missing; install them with: Tests/packages.sh build" >&2; exit 1; }
	# One by one: a static build of everything would also want an Embedded library that is not in the static folder.
	for p in $(PROGRAMS) press-finger; do \
	  $(SWIFT) build -c release --static-swift-stdlib --scratch-path $(SCRATCH) --product $$p || exit 1; done
	@mkdir -p build/bin
	@for p in $(PROGRAMS) press-finger; do \
	  cmp -s $(SCRATCH)/release/$$p build/bin/$$p || install -m 755 $(SCRATCH)/release/$$p build/bin/$$p; done

# A scratch folder of its own: this is the one thing that is not linked statically. One library, for then a program's
# linker needs no order and no libraries of C.
toolset:
	WHORL_TOOLSET=1 $(SWIFT) build -c release --scratch-path $(SCRATCH)/toolset --product WhorlToolset
	data/toolset/assemble.sh $(SCRATCH)/toolset/release build/toolset

include pam/module.mk

demo: packages-test
	@$(MAKE) --no-print-directory all
	@READER=$(READER) Tests/Demo/demo.sh

test: packages-test
	@$(MAKE) --no-print-directory all
	SWIFT_BACKTRACE=enable=no WHORL_PROGRAMS=$(CURDIR)/build/bin WHORL_PAM_MODULE=$(CURDIR)/build/pam_whorl.so \
	  SWIFT="$(SWIFT)" Tests/run.sh $(SCRATCH)
	SWIFT="$(SWIFT)" Tests/Examples/run.sh $(SCRATCH)
	SWIFT="$(SWIFT)" Tests/Packages/all.sh $(PACKAGES)
	Tests/System/run.sh build/pam_whorl.so build/bin
	Tests/Packaging/run.sh

test-system: packages-test
	@$(MAKE) --no-print-directory all
	Tests/System/run.sh build/pam_whorl.so build/bin $(NAMES)

test-packages: packages-test
	@$(MAKE) --no-print-directory all
	SWIFT="$(SWIFT)" Tests/Packages/all.sh $(PACKAGES)

soak: packages-test
	@$(MAKE) --no-print-directory all
	SWIFT_BACKTRACE=enable=no SOAK_OPERATIONS=$(or $(OPERATIONS),20000) SOAK_SEED=$(SEED) STORM_OPERATIONS=1000 \
	  $(SWIFT) test --scratch-path $(SCRATCH) --filter 'IntegrationTests.(SoakTests|SecItemStormTests)'

# Figures, which no test judges: machines differ, and so does their load.
bench: packages-test
	@$(MAKE) --no-print-directory all
	Tests/System/run.sh build/pam_whorl.so build/bin --bench
	$(SWIFT) build -c release --scratch-path $(SCRATCH) --product keychain-bench
	@folder="$$(mktemp -d)" && $(SCRATCH)/release/keychain-bench "$$folder/keychains" $(ITEMS); rm -rf "$$folder"

fuzz: packages-build
	SWIFT="$(SWIFT)" Tests/Fuzz/run.sh $(SCRATCH)/fuzz $(or $(SECONDS),600)

# One input that failed, once it is mended or to see why.
fuzz-one:
	SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 $(SCRATCH)/fuzz/release/fuzz-$(TARGET) $(INPUT)

# After a change of a format: the least of all inputs found so far that reach what they reach together.
fuzz-corpus: packages-build
	SWIFT="$(SWIFT)" Tests/Fuzz/run.sh $(SCRATCH)/fuzz corpus

lint:
	Tests/lint.sh

format:
	swift format -i -r Package.swift Sources Tests Examples

clean:
	rm -rf build .build

INSTALL_SUBSTITUTE = sed -e 's|@LIBEXECDIR@|$(LIBEXECDIR)|g' -e 's|@BINDIR@|$(BINDIR)|g'

install:
	@test -x build/bin/whorld -a -e build/pam_whorl.so -a -e build/toolset/whorl-toolset.json || { echo "make install: run make first" >&2; exit 1; }
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBEXECDIR) $(MANDIR)/man1 $(MANDIR)/man8 $(PAMDIR) $(BUSSERVICEDIR) \
	  $(BUSPOLICYDIR) $(POLKITDIR) $(UNITDIR) $(SYSUSERSDIR) $(UDEVDIR) $(PAMCONFIGDIR) $(COMPLETIONDIR) /etc/pam.d \
	  $(USERUNITDIR)/graphical-session.target.wants $(AUTOSTARTDIR))
	install -s -m 755 build/bin/whorl $(DESTDIR)$(BINDIR)/whorl
	install -s -m 755 build/bin/whorld build/bin/whorl-reader build/bin/whorl-passcode build/bin/whorl-embedded \
	  $(DESTDIR)$(LIBEXECDIR)
	install -m 644 build/pam_whorl.so $(DESTDIR)$(PAMDIR)/pam_whorl.so
	for l in $(PAM_LANGUAGES); do install -d $(DESTDIR)$(LOCALEDIR)/$$l/LC_MESSAGES && \
	  install -m 644 build/locale/$$l/LC_MESSAGES/whorl.mo $(DESTDIR)$(LOCALEDIR)/$$l/LC_MESSAGES/whorl.mo || exit 1; done
	install -m 644 data/dbus/org.whorl.conf $(DESTDIR)$(BUSPOLICYDIR)/org.whorl.conf
	install -m 644 data/polkit/org.whorl.policy $(DESTDIR)$(POLKITDIR)/org.whorl.policy
	install -m 644 data/sysusers.d/whorl.conf $(DESTDIR)$(SYSUSERSDIR)/whorl.conf
	install -m 644 udev/70-whorl.rules $(DESTDIR)$(UDEVDIR)/70-whorl.rules
	install -m 644 pam/pam-configs/whorl pam/pam-configs/whorl-login $(DESTDIR)$(PAMCONFIGDIR)/
	test -e $(DESTDIR)/etc/pam.d/whorl-passcode || install -m 644 pam/whorl-passcode $(DESTDIR)/etc/pam.d/whorl-passcode
	for f in org.whorl net.reactivated.Fprint; do $(INSTALL_SUBSTITUTE) data/dbus/$$f.service.in \
	  > $(DESTDIR)$(BUSSERVICEDIR)/$$f.service; chmod 644 $(DESTDIR)$(BUSSERVICEDIR)/$$f.service; done
	$(INSTALL_SUBSTITUTE) data/systemd/whorld.service.in > $(DESTDIR)$(UNITDIR)/whorld.service
	chmod 644 $(DESTDIR)$(UNITDIR)/whorld.service
	$(INSTALL_SUBSTITUTE) data/systemd/user/whorl-agent.service.in > $(DESTDIR)$(USERUNITDIR)/whorl-agent.service
	ln -sf ../whorl-agent.service $(DESTDIR)$(USERUNITDIR)/graphical-session.target.wants/whorl-agent.service
	$(INSTALL_SUBSTITUTE) data/autostart/whorl-agent.desktop.in > $(DESTDIR)$(AUTOSTARTDIR)/whorl-agent.desktop
	chmod 644 $(DESTDIR)$(USERUNITDIR)/whorl-agent.service $(DESTDIR)$(AUTOSTARTDIR)/whorl-agent.desktop
	install -m 644 data/man/*.1 $(DESTDIR)$(MANDIR)/man1
	install -m 644 data/man/*.8 $(DESTDIR)$(MANDIR)/man8
	install -m 644 data/completions/whorl.bash $(DESTDIR)$(COMPLETIONDIR)/whorl
	install -d $(DESTDIR)$(SWIFTDIR) $(DESTDIR)$(TOOLSETDIR)
	cp -R build/toolset/swift/. $(DESTDIR)$(SWIFTDIR)
	chmod -R u=rwX,go=rX $(DESTDIR)$(SWIFTDIR)
	sed 's|$(CURDIR)/build/toolset/swift|$(SWIFTDIR)|g' build/toolset/whorl-toolset.json > $(DESTDIR)$(TOOLSETDIR)/whorl-toolset.json
	chmod 644 $(DESTDIR)$(TOOLSETDIR)/whorl-toolset.json
	@if [ -z "$(DESTDIR)" ]; then \
	  systemd-sysusers $(SYSUSERSDIR)/whorl.conf || exit 1; \
	  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi; \
	  if [ -e /run/udev/control ]; then udevadm control --reload; \
	    udevadm trigger --subsystem-match=usb --subsystem-match=spidev --subsystem-match=hidraw; fi; \
	  dbus-send --system --type=method_call --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig \
	    2>/dev/null || true; \
	  echo "Installed. Next: whorl enroll, then: sudo pam-auth-update --enable whorl whorl-login"; fi

uninstall:
	pam/unwire.sh "$(DESTDIR)"
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then systemctl stop whorld.service || true; fi
	@if ! cmp -s pam/whorl-passcode $(DESTDIR)/etc/pam.d/whorl-passcode && [ -e $(DESTDIR)/etc/pam.d/whorl-passcode ]; then \
	  mv $(DESTDIR)/etc/pam.d/whorl-passcode $(DESTDIR)/etc/pam.d/whorl-passcode.saved; \
	  echo "Your changed /etc/pam.d/whorl-passcode is kept as whorl-passcode.saved."; fi
	rm -f $(DESTDIR)$(BINDIR)/whorl $(DESTDIR)$(PAMDIR)/pam_whorl.so $(DESTDIR)$(BUSPOLICYDIR)/org.whorl.conf \
	  $(DESTDIR)$(POLKITDIR)/org.whorl.policy $(DESTDIR)$(PAMCONFIGDIR)/whorl $(DESTDIR)$(PAMCONFIGDIR)/whorl-login \
	  $(DESTDIR)/etc/pam.d/whorl-passcode \
	  $(DESTDIR)$(BUSSERVICEDIR)/org.whorl.service $(DESTDIR)$(BUSSERVICEDIR)/net.reactivated.Fprint.service \
	  $(DESTDIR)$(UNITDIR)/whorld.service $(DESTDIR)$(COMPLETIONDIR)/whorl \
	  $(DESTDIR)$(USERUNITDIR)/whorl-agent.service \
	  $(DESTDIR)$(USERUNITDIR)/graphical-session.target.wants/whorl-agent.service \
	  $(DESTDIR)$(AUTOSTARTDIR)/whorl-agent.desktop \
	  $(DESTDIR)$(SYSUSERSDIR)/whorl.conf $(DESTDIR)$(UDEVDIR)/70-whorl.rules
	for f in data/man/*.1; do rm -f $(DESTDIR)$(MANDIR)/man1/$${f##*/}; done
	for f in data/man/*.8; do rm -f $(DESTDIR)$(MANDIR)/man8/$${f##*/}; done
	rm -f $(PAM_LANGUAGES:%=$(DESTDIR)$(LOCALEDIR)/%/LC_MESSAGES/whorl.mo)
	rm -rf $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(SWIFTDIR) $(DESTDIR)$(TOOLSETDIR)
	rmdir $(DESTDIR)$(PREFIX)/lib/whorl 2>/dev/null || true
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
	@if [ -z "$(DESTDIR)" ] && [ -e /run/udev/control ]; then udevadm control --reload; \
	  udevadm trigger --subsystem-match=usb --subsystem-match=spidev --subsystem-match=hidraw; fi
	@echo "Removed. Prints stay in /var/lib/fprint and items in /var/lib/whorl; delete these folders to forget them."
	@echo "The user whorl-reader stays too, as users of packages do; userdel whorl-reader removes it."
