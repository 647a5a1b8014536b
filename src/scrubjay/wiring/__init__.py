"""HOW the parts are put together for one principal: settings in, calls of the paths out."""
