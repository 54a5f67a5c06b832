"""What every room uses: the compiled core, files, options, progress. Imports no other room."""
