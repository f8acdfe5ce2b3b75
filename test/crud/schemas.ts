import { readFileSync } from 'node:fs';

/** Schemas with the shapes of public ones, written for these tests. */
export const SCHEMAS = ['films', 'shop', 'tracker'] as const;

/** The text of one of them. */
export const sdlOf = (name: (typeof SCHEMAS)[number]): string =>
  readFileSync(new URL(`schemas/${name}.graphql`, import.meta.url), 'utf8');

export const MANIFEST = 'name: shop\napi: { crud: true }\n';
