/** The graphql of this repository: a file in `test/bench` would import that of the peers there. */
export { buildSchema, type GraphQLSchema, isScalarType } from 'graphql';
