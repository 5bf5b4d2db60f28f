# build/pam_whorl.so: the C shim and the Embedded Swift conversation, linked by hand, for SwiftPM's own linking would
# bring the Swift runtime into every login program. Included by the top-level Makefile (SWIFT, SCRATCH).

SWIFT ?= swift
SCRATCH ?= .build
# The toolchain's own clang and archives: they fit its object files.
PAM_TOOLCHAIN := $(shell dirname "$$(dirname "$$(readlink -f "$$(command -v $(firstword $(SWIFT)))")")")
PAM_CC ?= $(firstword $(wildcard $(PAM_TOOLCHAIN)/bin/clang) clang)
PAM_ARCH := $(shell uname -m)
PAM_EMBEDDED := $(PAM_TOOLCHAIN)/lib/swift/embedded/$(PAM_ARCH)-unknown-linux-gnu
PAM_CFLAGS := -std=c17 -O2 -g -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -fstack-protector-strong \
  -D_FORTIFY_SOURCE=2 -D_DEFAULT_SOURCE -D_GNU_SOURCE -Wall -Wextra -Werror -ISources/CPAM
PAM_LDFLAGS := -shared -Wl,--version-script=pam/pam_whorl.map -Wl,-z,defs -Wl,-z,relro -Wl,-z,now \
  -Wl,-z,noexecstack -Wl,--gc-sections -Wl,--as-needed -Wl,-soname,pam_whorl.so

# SwiftPM knows what is out of date; the link follows only when an object changed.
.PHONY: pam-module-objects
pam-module-objects:
	@$(SWIFT) build -c release --scratch-path $(SCRATCH) --target PAMModule

PAM_OBJECTS := build/pam_whorl.o build/pam_token.o build/pam_locale.o
# Where the module looks for translations. It stands in a folder of the system's whatever PREFIX is, and so do they.
LOCALEDIR ?= /usr/share/locale

build/pam_whorl.o: pam/pam_whorl.c Sources/CPAM/pam_whorl.h pam/token.h pam/locale.h
	@mkdir -p build
	$(PAM_CC) $(PAM_CFLAGS) -c -o $@ $<

build/pam_token.o: pam/token.c pam/token.h
	@mkdir -p build
	$(PAM_CC) $(PAM_CFLAGS) -c -o $@ $<

build/pam_locale.o: pam/locale.c pam/locale.h pam/module.mk
	@mkdir -p build
	$(PAM_CC) $(PAM_CFLAGS) -DWHORL_LOCALE_FOLDER='"$(LOCALEDIR)"' -c -o $@ $<

build/pam_whorl.so: $(PAM_OBJECTS) pam/pam_whorl.map pam/module.mk pam-module-objects
	$(PAM_CC) $(PAM_LDFLAGS) -o $@.unstripped $(PAM_OBJECTS) $(SCRATCH)/release/PAMModule.build/*.o \
	  -L$(PAM_EMBEDDED) -lswiftUnicodeDataTables -lsystemd -lpam
	@strip --strip-unneeded -o $@.new $@.unstripped
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
	@echo "$@: $$(stat -c %s $@) bytes stripped"

# The translations of the module's texts.
PAM_LANGUAGES := $(patsubst pam/po/%.po,%,$(wildcard pam/po/*.po))

.PHONY: catalogues translations
catalogues: $(PAM_LANGUAGES:%=build/locale/%/LC_MESSAGES/whorl.mo)

# The byte order that pam/locale.c reads, on every machine.
build/locale/%/LC_MESSAGES/whorl.mo: pam/po/%.po
	@mkdir -p $(@D)
	msgfmt --check-format --endianness=little --no-hash -o $@ $<

# After a change of Sources/PAMModule/Texts.swift: the template anew, and its texts in every language's file.
translations:
	/usr/bin/python3 pam/po/texts.py template > pam/po/whorl.pot
	for l in $(PAM_LANGUAGES); do \
	  msgmerge --quiet --update --backup=none --no-fuzzy-matching --no-wrap pam/po/$$l.po pam/po/whorl.pot || exit 1; done

.PHONY: pam-tidy
pam-tidy:
	clang-tidy --quiet pam/pam_whorl.c pam/token.c pam/locale.c -- $(PAM_CFLAGS)
