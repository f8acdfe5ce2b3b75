/** A path that the tar format has no room for. */
export class InvalidPathError extends Error {
  constructor(path: string) {
    super(`${path} is too long for a tarball`);
    this.name = 'InvalidPathError';
  }
}
