/**
 * First line of every generated file. No date, version or path: the same inputs give the same bytes
 * anywhere.
 */
export const HEADER =
  '// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.';
