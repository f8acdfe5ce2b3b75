/**
 * The generator's folder in the project: run lock, journal of a commit, rescued texts and scaffold
 * bases.
 */
export const FOLDER = '.generator';
