// Package embedded is the pipeline that needs no network, no key and no model to fetch: speech recognition by pocketsphinx
// and speech synthesis by Flite, both packages of the distribution, and a small assistant that is built in.
package embedded
