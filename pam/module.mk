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

PAM_OBJECTS := build/pam_whorl.o build/pam_token.o

build/pam_whorl.o: pam/pam_whorl.c Sources/CPAM/pam_whorl.h pam/token.h
	@mkdir -p build
	$(PAM_CC) $(PAM_CFLAGS) -c -o $@ $<

build/pam_token.o: pam/token.c pam/token.h
	@mkdir -p build
	$(PAM_CC) $(PAM_CFLAGS) -c -o $@ $<

build/pam_whorl.so: $(PAM_OBJECTS) pam/pam_whorl.map pam/module.mk pam-module-objects
	$(PAM_CC) $(PAM_LDFLAGS) -o $@.unstripped $(PAM_OBJECTS) $(SCRATCH)/release/PAMModule.build/*.o \
	  -L$(PAM_EMBEDDED) -lswiftUnicodeDataTables -lsystemd -lpam
	@strip --strip-unneeded -o $@.new $@.unstripped
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
	@echo "$@: $$(stat -c %s $@) bytes stripped"

.PHONY: pam-tidy
pam-tidy:
	clang-tidy --quiet pam/pam_whorl.c pam/token.c -- $(PAM_CFLAGS)
