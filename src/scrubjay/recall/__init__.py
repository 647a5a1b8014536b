"""READ PATH: plan > channels > weigh > fuse > diversify > assemble."""
