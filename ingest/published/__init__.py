"""Official history as the official dashboard publishes it: files, or its interface."""
