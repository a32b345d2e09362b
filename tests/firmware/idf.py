#!/usr/bin/env python3
"""The component for ESP-IDF against the real one, whose folder IDF_PATH names:
our Kconfig in its tree must set what the port needs, and port/ and the example
must compile with its headers. Version 5 and 6 differ, so ask each.

Needs the submodules lwip and mbedtls, and esp_kconfiglib or kconfiglib of
esp-idf-kconfig (ESP-IDF's own Python has it; else PYTHONPATH). The compiler is
ESP-IDF's for RISC-V, or Debian's gcc-riscv64-unknown-elf with the headers of
libnewlib-dev (NEWLIB=/usr/include/newlib). Nothing is linked."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "idf"
TARGET = "esp32c3"
FILES = ["port/http.c", "port/posix.c", "port/tls.c", "port/port.c",
         "examples/esp32/main/main.c"]

# Where the headers are that these files include, directly or not; versions
# differ, and what one of them lacks is left out.
COMPONENTS = {
    ".": "newlib/platform_include esp_libc/platform_include lwip/include "
         "lwip/include/apps lwip/lwip/src/include lwip/port/include "
         "lwip/port/freertos/include lwip/port/esp32xx/include "
         "mbedtls/port/include mbedtls/mbedtls/include mbedtls/esp_crt_bundle/include "
         "mbedtls/mbedtls/tf-psa-crypto/include "
         "mbedtls/mbedtls/tf-psa-crypto/drivers/builtin/include "
         "freertos/config/include freertos/config/include/freertos "
         "freertos/config/riscv/include freertos/FreeRTOS-Kernel/include "
         "freertos/FreeRTOS-Kernel/portable/riscv/include "
         "freertos/FreeRTOS-Kernel/portable/riscv/include/freertos "
         "freertos/esp_additions/include hal/platform_port/include "
         "esp_rom/esp32c3 esp_rom/esp32c3/include/esp32c3 esp_hw_support/etm/include "
         "soc/esp32c3/register",
    "include": "esp_common esp_netif esp_event log nvs_flash esp_driver_gpio "
               "esp_hw_support soc soc/esp32c3 hal hal/esp32c3 esp_rom esp_rom/esp32c3 "
               "heap riscv esp_system vfs esp_partition esp_hal_gpio "
               "esp_hal_gpio/esp32c3 esp_blockdev",
}
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def finish(why=None):
    if why:
        print(f"idf: {why}")
    print(f"idf: {passed} passed, {failed} failed" + (", 1 skipped" if why else ""))
    sys.exit(failed > 0)


def configure(idf, version, options):
    """Writes sdkconfig.h as ESP-IDF would, with its defaults and these options.
    Answers the value of an option."""
    try:
        import esp_kconfiglib as kconfiglib
    except ImportError:
        try:
            import kconfiglib
        except ImportError:
            finish("no kconfiglib of esp-idf-kconfig")
    os.environ.update(IDF_TARGET=TARGET, IDF_VERSION=version, IDF_INIT_VERSION=version,
                      IDF_ENV_FPGA="", IDF_ENV_BRINGUP="", IDF_CI_BUILD="",
                      IDF_DOC_BUILD="", IDF_MINIMAL_BUILD="", IDF_TOOLCHAIN="gcc",
                      srctree=str(idf))
    for name, extra in ("Kconfig", [ROOT / "Kconfig"]), ("Kconfig.projbuild", []):
        list_file = OUT / f"list.{name}"
        list_file.write_text("".join(
            f'source "{path}"\n' for path in [*sorted(idf.glob(f"components/*/{name}")), *extra]))
        key = "PROJBUILD_" if extra == [] else ""
        os.environ[f"COMPONENT_KCONFIGS_{key}SOURCE_FILE"] = str(list_file)
    tree = kconfiglib.Kconfig(str(idf / "Kconfig"), warn=False)
    for name, value in options.items():
        if name in tree.syms:
            tree.syms[name].set_value(value)
    tree.write_autoconf(str(OUT / "sdkconfig.h"), header="")
    return lambda name: tree.syms[name].str_value


def compiler(idf):
    own = shutil.which("riscv32-esp-elf-gcc")
    if own:
        return [own]
    gcc, newlib = "riscv64-unknown-elf-gcc", os.environ.get("NEWLIB", "/usr/include/newlib")
    if not shutil.which(gcc) or not Path(newlib, "sys", "reent.h").exists():
        finish("no riscv32-esp-elf-gcc, nor gcc-riscv64-unknown-elf with libnewlib-dev")
    # Debian's newlib is older than ESP-IDF's, whose wrapper of this header it
    # contradicts.
    shim = OUT / "newlib" / "sys"
    shim.mkdir(parents=True, exist_ok=True)
    (shim / "reent.h").write_text(f'#include "{newlib}/sys/reent.h"\n')
    include = [subprocess.check_output([gcc, f"-print-file-name={name}"], text=True).strip()
               for name in ("include", "include-fixed")]
    return [gcc, "-nostdinc", f"-I{shim.parent}", *(f"-isystem{d}" for d in include),
            f"-idirafter{newlib}"]


def main():
    if not os.environ.get("IDF_PATH"):
        finish("IDF_PATH names no ESP-IDF: compiled against look-alikes only")
    idf = Path(os.environ["IDF_PATH"])
    text = (idf / "tools/cmake/version.cmake").read_text()
    version = ".".join(re.findall(r"IDF_VERSION_\w+ (\d+)", text)[:3])
    OUT.mkdir(parents=True, exist_ok=True)

    without = configure(idf, version, {})
    check(without("TOOLCALL_PORT") == "n", "the port is an option")
    # Their headers need Espressif's mbedTLS and ROM, which are not looked at.
    plain = dict.fromkeys(["MBEDTLS_HARDWARE_AES", "MBEDTLS_HARDWARE_SHA",
                           "MBEDTLS_HARDWARE_MPI", "MBEDTLS_HARDWARE_GCM",
                           "MBEDTLS_ROM_MD5"], "n")
    defaults = re.findall(r"^CONFIG_(\w+)=(\w+)",
                          (ROOT / "examples/esp32/sdkconfig.defaults").read_text(), re.M)
    value = configure(idf, version, {**plain, **dict(defaults)})
    for name, want in [*defaults, ("MBEDTLS_HAVE_TIME_DATE", "y"),
                       ("MBEDTLS_CERTIFICATE_BUNDLE", "y")]:
        check(value(name) == want, f"{name} is {value(name)}, not {want}")

    places = [idf / "components" / name / folder for folder, names in COMPONENTS.items()
              for name in names.split()]
    places.append(idf / "examples/common_components/protocol_examples_common/include")
    command = [*compiler(idf), "-march=rv32imc", "-mabi=ilp32", "-std=gnu17", "-fsyntax-only",
               "-Wall", "-Wextra", "-Werror", "-DESP_PLATFORM", f'-DIDF_VER="{version}"',
               "-D_POSIX_TIMERS=1", "-D_POSIX_MONOTONIC_CLOCK=1",
               '-DMBEDTLS_CONFIG_FILE="mbedtls/esp_config.h"', f"-I{OUT}", f"-I{ROOT}",
               *(f"-isystem{place}" for place in places if place.is_dir())]
    for file in FILES:
        run = subprocess.run([*command, ROOT / file], capture_output=True, text=True)
        check(run.returncode == 0, f"{file} with ESP-IDF {version}\n{run.stderr[:1500]}")
    print(f"idf: compiled with the headers of ESP-IDF {version}, {TARGET}")
    finish()


main()
