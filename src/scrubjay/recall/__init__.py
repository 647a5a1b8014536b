"""READ PATH: plan > channels > fuse > weigh > diversify > assemble."""
