"""The commands of `supratok`, a file each."""
