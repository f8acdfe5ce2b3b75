import { type Project, remembered } from '@twofold/schema';
import { buildASTSchema, type GraphQLSchema, parse } from 'graphql';

/** The schema that a project serves: without our directives. It is made once for each model. */
export const servedSchema: (project: Project) => GraphQLSchema = remembered(({ sdl }: Project) =>
  buildASTSchema(parse(sdl, { noLocation: true }), { assumeValid: true }),
);
