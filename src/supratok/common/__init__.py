"""What every room stands on: the compiled core, files, options, progress. Imports no other room."""
