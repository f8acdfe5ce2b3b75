import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hashOf, type Ledger, ownerOf } from './ledger.ts';
import type { Migration } from './migration.ts';

/** A file of `migrations/`, which is not imported yet. */
export interface MigrationFile {
  readonly url: URL;
  /** `0001_init` */
  readonly name: string;
  readonly text: string;
}

/**
 * The `NNNN_name.ts` (or `.js`) files of a folder, in order of their names. A missing folder counts
 * as empty.
 */
export function migrationFiles(folder: URL): MigrationFile[] {
  const path = fileURLToPath(folder);
  return (existsSync(path) ? readdirSync(path) : [])
    .filter((file) => /^\d+_[\w-]+\.(ts|js|mjs)$/.test(file))
    .sort()
    .map((file) => {
      const url = new URL(file, folder);
      const name = url.pathname.replace(/^.*\//, '').replace(/\.\w+$/, '');
      return { url, name, text: readFileSync(url, 'utf8') };
    });
}

/** Whether each is applied as it is now, all of it and with its undo, and no other of its owner. */
export function isApplied(
  { applied }: Ledger,
  migrations: readonly Pick<Migration, 'name' | 'text' | 'unused'>[],
): boolean {
  const hashes = new Map(migrations.map((each) => [each.name, hashOf(each)]));
  const owners = new Set(hashes.size > 0 ? [...hashes.keys()].map(ownerOf) : ['']);
  const rows = applied.filter(({ name }) => owners.has(ownerOf(name)));
  return (
    migrations.every(({ name, unused }) => unused || rows.some((row) => row.name === name)) &&
    rows.every(
      ({ name, hash, steps, undoKnown }) =>
        hashes.get(name) === hash && steps === null && (undoKnown || ownerOf(name) !== ''),
    )
  );
}
