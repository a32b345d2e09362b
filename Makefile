# make run     build the example agent and talk to it (the main job)
# make test    build and run the tests: offline, no service, no clock
# make test-peers  the agent and its requests beside others: nginx, Node,
#              openssl, packages of npm
# make test-timed  what only a quiet machine can tell: how long something takes
# make chapters  each chapter of src/ compiles alone with those it names
# make all     build without running
# make matrix  tests with gcc and clang, C99, C11, C++11, 32-bit, sanitizers
# make firmware-test  the tests on emulated microcontrollers, and the Uno's MCP
# make firmware-run  an agent as firmware in QEMU, with the stand-in model
# make boards  packages and examples for ESP-IDF, Zephyr, Arduino, PlatformIO
# make linux-test  a static agent (musl), and the Raspberry Pi's under qemu-user
# make size    flash, RAM and stack on Cortex-M0+, Cortex-M4 and RV32IMC
# make bench   instructions per call, beside cJSON
# make bench-pick  quality and cost of picking, beside others
# make coverage  lines and branches of a call that the unit tests reach
# make mutants OF='FILE FUNCTION'  which slips in there no test notices; without OF
#              everywhere: days
# make figures write size and speed into README.md
# make landed  record what only falls, when an issue ends: tests/measure/landed
# make format  lay out the sources; format-check only looks
# make FOLDER/NAME.h  shapes of the tools in FOLDER/NAME.json, by build/shapes
# make docs    the API reference, build/reference.html, from the contracts in src/
# make install PREFIX=/usr/local: headers, tools/ as a library and, but for
#              NO_PORT=1, port/ as another, for CMake and pkg-config; also LIBDIR=lib
# make toolcall.h  the header, made of its chapters in src/
# make clean
#
# What is missing is installed by tests/need where that may be done.

BUILD  ?= build
PREFIX ?= /usr/local
STD    ?= c99
CFLAGS ?= -O2 -g
# Warnings are errors in CI (.ci/run sets it), never for users.
WERROR ?=
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
          -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
          -Wcast-qual -Wcast-align -Wpointer-arith -Wwrite-strings -Wvla \
          -Wundef -Wformat=2 -Wdouble-promotion $(WERROR)

# The compiler would ignore a misspelt switch in silence.
misspelt := $(shell src/switches $(CC) $(EXTRA) $(CPPFLAGS) $(CFLAGS))
$(if $(misspelt),$(error $(misspelt)))

# Says that what the build needs is there.
installed = $(BUILD)/deps$(if $(JSMN),,-no-jsmn)$(if $(NO_PORT),-no-port)

# jsmn makes the tokens, from Debian's package. `make JSMN=` builds without.
JSMN   ?= -DTOOLCALL_JSMN -DJSMN_STATIC -DJSMN_STRICT -DJSMN_PARENT_LINKS

# V=1 shows the commands. EXTRA comes first, so that tests/matrix can put a
# header of its own in front.
COMPILE = $(CC) -std=$(STD) $(WARN) $(EXTRA) -I. $(JSMN) $(CPPFLAGS) $(CFLAGS) -MMD -MP
HUSH    = $(if $(V),,@echo "  $@";)
TLS     = -lmbedtls -lmbedx509 -lmbedcrypto -pthread

# The library, once for the programs and tests that are linked with it.
impl = $(BUILD)/tests/impl.o

# Every tests/test_*.c is a test. Most are for one chapter: they include it from
# src/ and compile nothing else, unless LIBRARY names an object to link instead
# (tests/matrix has one that was compiled as C++). The others use the whole
# library, and some of them tools/, or port/ and mbedTLS.
tests      = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/test_*.c))
LIBRARY   ?=
of_chapter = $(patsubst tests/%.c,$(BUILD)/%,\
             $(shell grep -l TEST_LINKED tests/test_*.c))
port_tests = $(filter $(BUILD)/test_port% $(BUILD)/test_agent_e2e% \
                      $(BUILD)/test_tools_web% $(BUILD)/test_tools_each%,\
                      $(tests))
probe      = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/probe*.c))
programs   = $(patsubst examples/%.c,$(BUILD)/%,$(wildcard examples/[a-z]*.c))
# lwIP is for firmware: examples/firmware.
port       = $(patsubst %.c,$(BUILD)/%.o,\
             $(filter-out port/lwip.c port/curl.c,$(wildcard port/*.c)))
# What a program does not use of the ready-made tools is not linked: webfetch
# alone needs port/.
tools      = $(BUILD)/libtoolcall_tools.a
tools_of   = $(patsubst %.c,$(BUILD)/%.o,\
             $(filter-out tools/shapes.c $(if $(NO_PORT),tools/web.c),$(wildcard tools/*.c)))
sources    = $(wildcard src/*.[ch] port/*.[ch] tools/*.[ch] examples/*.[ch] examples/*/*.[ch] \
                        tests/*.[ch] tests/*.cpp tests/*/*.[ch])

# The agent finds the stand-in model and its certificate beside itself.
main = $(programs) $(BUILD)/shapes $(BUILD)/standin.crt

all: $(main) $(tests) $(BUILD)/probe

# The header is never edited: src/join puts its chapters together. It is
# replaced only when it differs.
toolcall.h: FORCE
	@src/join | cmp -s - $@ || src/join >$@
FORCE:

# As many as there are processors, unless make was told a number.
jobs = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

WORKSPACE = .
run:
	@$(MAKE) $(jobs) --no-print-directory $(addprefix $(BUILD)/,agent standin standin.crt trace lint)
	@$(BUILD)/agent --workspace $(WORKSPACE)

# The longest first.
test:
	@$(MAKE) $(jobs) --no-print-directory all
	@tests/need python3 || true
	@tests/run tests/conformance.py tests/shapes_real.py tests/examples.py tests/shapes_agree.py \
	    tests/readme tests/fuzz.py tests/shape_errors tests/contracts.py tests/standin.py \
	    tests/terminal.py tests/dialogues.py tests/trace_page.py tests/lint.py tests/pick.py \
	    tests/turns.py tests/shapes.py tests/nodes.py tests/suggestions.py tests/sentences.py $(tests)

test-peers: $(main) $(BUILD)/probe
	@tests/need python3 python3-yaml openssl nodejs nginx-light || true
	@tests/run tests/peers.py tests/requests.py tests/tls tests/lwip/host tests/mcp_clients.py \
	    tests/aimock.py tests/gateway.py tests/llama.py tests/poison.py

# With TEST_TIMED the tests that use timed.h fail where something takes long.
timed_tests = $(patsubst tests/%.c,$(BUILD)/%,\
              $(shell grep -lE 'timed.h|tools_files.h' tests/test_*.c))
test-timed: $(timed_tests) $(BUILD)/probe
	@TEST_TIMED=1 tests/run $(timed_tests) tests/conformance.py tests/pick.py

# For tests/matrix: only the tests, with NO_PORT only those without TLS.
unit_tests = $(if $(NO_PORT),$(filter-out $(port_tests),$(tests)),$(tests))
unit: $(unit_tests) $(if $(NO_PORT),,$(main))
	@tests/run $(unit_tests)

chapters:
	@tests/chapters
matrix: $(installed)
	@tests/matrix
size: $(installed)
	@tests/need python3
	@tests/measure/size.py
	@tests/measure/profiles.py
firmware-test:
	@tests/need python3
	@tests/firmware/run.py
	@tests/mcp_uno.py
	@tests/mcp_qemu.py
# Both build mbedTLS, which has to come as source: skipped where apt has none.
SOURCE = tests/firmware/source
firmware-run: $(main) $(BUILD)/mkcert
	@tests/need python3 gcc-arm-none-eabi picolibc-arm-none-eabi qemu-system-arm
	@tls=$$($(SOURCE) mbedtls libmbedtls-dev) && \
	lwip=$$($(SOURCE) lwip liblwip-dev) || \
	{ echo "$@: 0 passed, 0 failed, 1 skipped"; exit 0; } && \
	examples/firmware/run.py "$$tls" "$$lwip"
# What ESP-IDF, Zephyr, Arduino, PlatformIO, CMake's and pkg-config's users get.
boards:
	@tests/need python3-yaml python3-kconfiglib
	@tests/run tests/manifests.py tests/firmware/components tests/firmware/arduino tests/install
linux-test: $(main) $(BUILD)/mkcert
	@tests/need python3
	@tls=$$($(SOURCE) mbedtls libmbedtls-dev) || \
	{ echo "$@: 0 passed, 0 failed, 1 skipped"; exit 0; } && \
	tests/linux.py "$$tls"
bench: $(installed)
	@tests/need libcjson-dev valgrind python3
	@tests/measure/bench.py
	@tests/measure/bench_tools.py
	@tests/measure/bench_shapes.py
	@tests/measure/bench_deltas.py
	@tests/measure/bench_turns.py
	@tests/measure/machine.py
bench-pick: $(BUILD)/probe
	@tests/need python3
	@tests/measure/bench_pick.py
coverage: $(installed) toolcall.h
	@tests/need python3
	@tests/measure/coverage.py
mutants: $(installed) toolcall.h
	@tests/need python3 clang bubblewrap
	@tests/measure/mutants.py --all $(OF)

figures: size firmware-run linux-test bench
	@tests/measure/figures.py

landed: $(BUILD)/deps toolcall.h
	@tests/measure/shape.py --land
	@tests/measure/size.py --land
	@tests/mcp_uno.py --land

$(BUILD)/probe: $(probe) $(impl)
	$(HUSH) $(COMPILE) $(probe) $(impl) -o $@ $(LDFLAGS) $(LDLIBS)
$(of_chapter): $(BUILD)/%: tests/%.c $(LIBRARY)
	$(HUSH) $(COMPILE) $(if $(LIBRARY),-DTEST_LINKED) $< $(LIBRARY) -o $@ \
	    $(LDFLAGS) $(LDLIBS)
# Compiled three times as fast as with -O2, which the other tests are built with.
$(of_chapter): CFLAGS = -Og -g
$(filter-out $(of_chapter) $(port_tests),$(tests)): $(BUILD)/%: tests/%.c $(impl)
	$(HUSH) $(COMPILE) $< $(filter %.a %/lint.o,$^) $(impl) -o $@ $(LDFLAGS) $(LDLIBS)
$(port_tests): $(BUILD)/%: tests/%.c $(impl) $(port)
	$(HUSH) $(COMPILE) $< $(filter %.a,$^) $(impl) $(port) -o $@ $(LDFLAGS) $(LDLIBS) $(TLS)
$(filter $(BUILD)/test_tools_% $(BUILD)/test_trace,$(tests)): $(tools)
$(BUILD)/test_lint: $(BUILD)/tools/lint.o # alone: it is tested with all switches
# HTTP is compared with http_parser; without it that test says it was skipped.
$(BUILD)/test_port_diff: LDLIBS += \
    $(shell tests/need libhttp-parser-dev >&2 && echo -lhttp_parser)
# A clock that the test turns, and a function that it makes fail, whatever
# version of mbedTLS calls it.
$(BUILD)/test_port_floods: LDFLAGS += -Wl,--wrap=tport_posix_now_ms
$(BUILD)/test_port_tls: LDFLAGS += -Wl,--wrap=mbedtls_entropy_func
# Functions of libc that a test makes fail, also below mbedTLS.
$(BUILD)/test_port_faults: LDFLAGS += -Wl,--wrap=calloc,--wrap=free \
    -Wl,--wrap=socket,--wrap=connect,--wrap=recv,--wrap=send,--wrap=close \
    -Wl,--wrap=getaddrinfo,--wrap=freeaddrinfo,--wrap=mbedtls_entropy_func \
    -Wl,--wrap=clock_gettime,--wrap=malloc,--wrap=pipe2,--wrap=pthread_create
$(BUILD)/test_port_faults: TLS = -Wl,-Bstatic -lmbedtls -lmbedx509 -lmbedcrypto -Wl,-Bdynamic
# Without libcurl that test says it was skipped.
$(BUILD)/test_port_curl: LDLIBS += \
    $(shell tests/need libcurl4-openssl-dev >&2 && echo -lcurl)
# A clock that the test turns, see tests/driven.h.
$(BUILD)/test_port_wait: LDFLAGS += -Wl,--wrap=poll,--wrap=clock_gettime \
    -Wl,--wrap=socket,--wrap=pipe2,--wrap=getaddrinfo
$(programs): $(BUILD)/%: examples/%.c $(tools) $(port)
	$(HUSH) $(COMPILE) $< $(filter %.o,$^) $(tools) -o $@ $(LDFLAGS) $(LDLIBS) $(TLS)
# Others have the library in their own one file.
$(addprefix $(BUILD)/,agent standin trace lint): $(impl)
# The agent has parts of its own.
agent_parts = $(patsubst %.c,$(BUILD)/%.o,$(wildcard examples/agent/*.c))
$(BUILD)/agent: $(agent_parts)
# Without libedit lines are read plainly.
EDIT = $(shell tests/need libedit-dev >&2 && echo $(1))
$(BUILD)/examples/agent/typing.o: CPPFLAGS += $(call EDIT,-DTYPING_LIBEDIT)
$(BUILD)/agent: LDLIBS += $(call EDIT,-ledit)
$(BUILD)/shapes: tools/shapes.c
	$(HUSH) $(COMPILE) $< -o $@ $(LDFLAGS) -lm $(LDLIBS)
%.h: %.json $(BUILD)/shapes
	$(BUILD)/shapes $(SHAPES) -o $@ $< || { rm -f $@; exit 1; }
$(tools): $(tools_of)
	@rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(HUSH) $(COMPILE) -c $< -o $@

# The certificate of the stand-in model, and of the servers in tests.
$(BUILD)/standin.crt: $(BUILD)/mkcert
	@$< $@ $(BUILD)/standin.key
$(BUILD)/mkcert: tests/mkcert.c
	$(HUSH) $(COMPILE) $< -o $@ $(LDFLAGS) $(TLS)

$(programs) $(BUILD)/shapes $(tests) $(tools_of) $(port) $(agent_parts) $(impl) $(probe) $(BUILD)/mkcert: | $(installed) toolcall.h
$(installed):
	@CC="$(CC)" tests/need libc6-dev $(if $(JSMN),libjsmn-dev) $(if $(NO_PORT),,libmbedtls-dev)
	@mkdir -p $(BUILD) && touch $@
deps: $(installed)

format:
	clang-format -i $(sources)
format-check:
	@tests/need clang-format
	clang-format --dry-run --Werror $(sources)

# One page with a search field, for any browser.
docs:
	@tests/need python3
	@mkdir -p $(BUILD)
	@src/reference >$(BUILD)/reference.html
	@echo "  $(BUILD)/reference.html"

# What is installed is in cmake/installed, for make as for CMake.
LIBDIR ?= lib
parts   = core $(if $(NO_PORT),,port) $(if $(filter Linux,$(shell uname)),tools)
version = $(shell sed -n 's/.*define TOOLCALL_VERSION "\(.*\)"/\1/p' toolcall.h)
pointer = $(shell echo __SIZEOF_POINTER__ | $(CC) $(CFLAGS) -E -P -xc -)
up      = $(shell echo $(LIBDIR)/cmake/toolcall/ | sed 's|[^/]\{1,\}|..|g')
made    = $(patsubst cmake/%.in,$(BUILD)/%,$(wildcard cmake/*.in))
$(BUILD)/libtoolcall_port.a: $(port)
	@rm -f $@ && $(AR) rcs $@ $(port)
$(made): $(BUILD)/%: cmake/%.in FORCE
	@mkdir -p $(BUILD)
	@sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(version)|; s|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@UP@|$(up)|; s|@POINTER@|$(pointer)|' $< >$@
install: toolcall.h $(made) $(foreach part,$(filter-out core,$(parts)),$(BUILD)/libtoolcall_$(part).a)
	@sed '/^#/d; s|LIBDIR|$(LIBDIR)|; s|BUILD/|$(BUILD)/|g' cmake/installed | \
	while read -r part to files; do \
	    case " $(parts) " in *" $$part "*) \
	        install -d "$(DESTDIR)$(PREFIX)/$$to" && \
	        install -m 644 $$files "$(DESTDIR)$(PREFIX)/$$to" || exit 1 ;; \
	    esac; \
	done
	@echo "  $(DESTDIR)$(PREFIX)"
clean:
	rm -rf $(BUILD)

-include $(wildcard $(BUILD)/*.d $(BUILD)/*/*.d $(BUILD)/*/*/*.d)
.PHONY: all run test test-peers test-timed unit chapters matrix firmware-test firmware-run boards linux-test size \
        bench bench-pick coverage mutants figures landed deps docs format format-check install clean
