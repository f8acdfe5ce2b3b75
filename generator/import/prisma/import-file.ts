import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { CommandError } from '../../failure.ts';
import type { Imported } from '../imported.ts';
import { importPrisma } from './import-prisma.ts';
import { type PrismaText, readPrisma } from './read-prisma.ts';

/** Where projects of Prisma keep their schema. */
const USUAL = ['prisma/schema.prisma', 'schema.prisma', 'prisma/schema'];

/** Databases that this server supports too. */
const PROVIDERS = ['postgresql', 'postgres', 'sqlite'];

/**
 * Imports a Prisma schema from a file, or from a folder of several files.
 *
 * @throws CommandError when there is none, when it cannot be read, and for another database
 * @example await importPrismaFile('/shop', 'prisma/schema.prisma')
 */
export async function importPrismaFile(
  root: string,
  given: string | undefined,
): Promise<{ readonly imported: Imported; readonly source: string }> {
  const path = given ?? USUAL.find((each) => existsSync(join(root, each)));
  if (path === undefined || !existsSync(resolve(root, path)))
    throw new CommandError('SOURCE_MISSING', {
      message: path === undefined ? `there is no ${USUAL[0]} in ${root}` : `there is no ${path}`,
      fix: 'generator import prisma FILE',
    });
  const schema = await readPrisma(readTexts(root, resolve(root, path)));
  if (schema.provider !== null && !PROVIDERS.includes(schema.provider))
    throw new CommandError('PROVIDER_UNKNOWN', {
      message: `the schema is for ${schema.provider}: only PostgreSQL and SQLite can be served`,
    });
  return { imported: importPrisma(schema), source: path };
}

function readTexts(root: string, path: string): PrismaText[] {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.prisma'))
        .sort()
        .map((name) => join(path, name))
    : [path];
  return files.map((file) => ({
    file: relative(root, file),
    text: readFileSync(file, 'utf8').replace(/^\uFEFF/, ''),
  }));
}
