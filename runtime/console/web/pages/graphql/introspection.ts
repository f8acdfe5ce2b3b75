import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  printSchema,
} from 'graphql';

export const introspectionQuery = getIntrospectionQuery();

/** The SDL of the answer to `introspectionQuery`. */
export const sdlOf = (data: IntrospectionQuery): string => printSchema(buildClientSchema(data));
