import { buildASTSchema, parse } from 'graphql';
import { placesOf } from '../../../generator/breaking/api/places.ts';
import type { Recorded } from '../../../generator/breaking/documents/recorded.ts';
import type { ServedSchema } from '../../../generator/breaking/side.ts';
import { sha256 } from './repository.ts';

/** A schema as one side has it. */
export function served(text: string): ServedSchema {
  const sdl = parse(text, { noLocation: true });
  return {
    sdl,
    schema: buildASTSchema(sdl, { assumeValidSDL: true }),
    places: placesOf([{ file: 'schema.graphql', text }]),
  };
}

/** A document as the trusted list has it. */
export function recorded(text: string): Recorded {
  const document = parse(text, { noLocation: true });
  const [operation] = document.definitions;
  const name = operation?.kind === 'OperationDefinition' ? operation.name?.value : undefined;
  return {
    operation: name ?? 'unnamed',
    hash: sha256(text),
    text,
    document,
    retired: false,
    at: { file: 'documents.json', line: 2, column: 1 },
  };
}
