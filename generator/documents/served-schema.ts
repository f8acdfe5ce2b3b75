import { remembered, type Project } from '@twofold/schema';
import {
  buildASTSchema,
  parse,
  validate,
  type GraphQLSchema,
  type DocumentNode,
  type GraphQLError,
} from 'graphql';

/** The schema that a project serves: without our directives. It is made once for each model. */
export const servedSchema: (project: Project) => GraphQLSchema = remembered(({ sdl }: Project) =>
  buildASTSchema(parse(sdl, { noLocation: true }), { assumeValid: true }),
);

/** The first mistake of a document; undefined when it is valid. */
export function firstMistake(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | undefined {
  return validate(schema, document, undefined, { maxErrors: 1 })[0];
}

export const validFor = (schema: GraphQLSchema, document: DocumentNode): boolean =>
  firstMistake(schema, document) === undefined;
