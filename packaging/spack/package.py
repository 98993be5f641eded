# SPDX-License-Identifier: Apache-2.0
# A recipe for Spack: copy this folder to packages/libautocast of a repository
# of yours (`spack repo create`), and set `url` to where you keep the tarball.
from spack.package import *


class Libautocast(AutotoolsPackage):
    """Tensor Core speed for CUDA programs that cannot be recompiled: a library
    to preload, a policy language, a report, and a gradient scaler for C."""

    url = "file:///srv/mirror/libautocast-0.1.0.tar.xz"
    license("Apache-2.0")

    version("0.1.0")

    variant("emulator", default=False, description="build the emulated GPU")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cuda@13:")
    depends_on("cudnn@9.8:", type="build")
    depends_on("openblas", when="+emulator")
    depends_on("onednn", when="+emulator")

    def configure_args(self):
        return ["--with-cuda=" + self.spec["cuda"].prefix]
