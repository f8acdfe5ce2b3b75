/**
 * The first line of every generated file. It has no date, version or path, so that the same inputs
 * give the same bytes everywhere.
 */
export const HEADER =
  '// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.';
