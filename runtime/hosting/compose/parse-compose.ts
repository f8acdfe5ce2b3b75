import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { AppError, failure } from '@twofold/runtime/errors';

/** Loaded with the first compose file. */
const load = createRequire(import.meta.url);

/** Longer than any real file. */
export const MOST_CHARACTERS = 256 * 1024;
const MOST_ALIASES = 200;

/**
 * Reads a compose file as plain values: with anchors, aliases and merge keys (`<<`).
 *
 * @throws AppError 400 with the line, for a file that is no YAML, names a key twice, or repeats its
 * aliases too often.
 */
export function parseCompose(text: string): unknown {
  if (text.length > MOST_CHARACTERS)
    throw failure.badRequest(`The compose file is longer than ${MOST_CHARACTERS} characters`);
  const yaml = load('yaml') as typeof Yaml;
  try {
    const document = yaml.parseDocument(text, { merge: true, uniqueKeys: true, stringKeys: true });
    const [error] = [...document.errors, ...document.warnings];
    if (error)
      throw failure.badRequest(
        `The compose file is not valid YAML: ${error.message.split('\n')[0]}`,
      );
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw failure.badRequest(
      'The compose file is nested too deeply, or repeats its aliases too often',
    );
  }
}
