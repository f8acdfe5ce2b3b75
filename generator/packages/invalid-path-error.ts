/** A path that is too long for the tar format. */
export class InvalidPathError extends Error {
  constructor(path: string) {
    super(`${path} is too long for a tarball`);
    this.name = 'InvalidPathError';
  }
}
