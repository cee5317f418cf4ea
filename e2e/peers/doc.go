// Package peers tests adapters of the pipeline with servers that others wrote, as pip installs them at the versions of requirements.txt.
package peers
