# SPDX-License-Identifier: MIT
from setuptools import setup

setup(cffi_modules=["native_builder.py:builder"])
