# Names that are not there, and metadata only.
echo x > there
ls missing 2> /dev/null || true
stat there > /dev/null
chmod 600 there
