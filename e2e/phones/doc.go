// Package phones calls bin/antiphon with telephones of others: sipp and baresip of Debian.
package phones
