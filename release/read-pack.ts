import { gunzipSync } from 'node:zlib';
import type { PackedFile } from '../generator/packages/pack.ts';

/** A pack: its bytes, and the files in it. */
export interface Pack {
  /** The file name of the tarball. */
  readonly file: string;
  readonly bytes: Buffer;
  readonly manifest: PackManifest;
  readonly files: readonly PackFile[];
}

export interface PackFile {
  /** Relative to the package's folder. */
  readonly path: string;
  readonly bytes: Buffer;
}

export interface PackManifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const BLOCK = 512;

/** Reads a tarball of ours: ustar, plain files below `package/`. */
export function readPack({ name, bytes }: PackedFile): Pack {
  const files = [...filesOf(gunzipSync(bytes))];
  const manifest = files.find(({ path }) => path === 'package.json');
  return {
    file: name,
    bytes,
    files,
    manifest: JSON.parse(String(manifest?.bytes)) as PackManifest,
  };
}

function* filesOf(tar: Buffer): Generator<PackFile> {
  for (let at = 0; tar[at] !== 0 && at < tar.length;) {
    const text = (from: number, length: number) =>
      tar.toString('utf8', at + from, at + from + length).replace(/\0.*$/s, '');
    const length = Number.parseInt(text(124, 12), 8);
    const prefix = text(345, 155);
    const path = `${prefix && `${prefix}/`}${text(0, 100)}`.replace(/^package\//, '');
    yield { path, bytes: tar.subarray(at + BLOCK, at + BLOCK + length) };
    at += BLOCK + Math.ceil(length / BLOCK) * BLOCK;
  }
}
