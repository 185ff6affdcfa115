"""The version of this software, shown in the footer and by the API."""

VERSION = "0.1.0"
