import { hash } from 'node:crypto';
import {
  buildSchema,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { AUTHORS, initialsOf, SDL } from '../workloads.ts';
import type { PeerContext, Post, User } from './peer-source.ts';

type Resolve<Parent> = GraphQLFieldResolver<Parent, PeerContext, any>;

const query: Record<string, Resolve<unknown>> = {
  user: (_, { id }, { source }) => source.user(Number(id)),
  users: (_, { limit }, { source }) => source.users(limit),
  posts: (_, { limit }, { source }) => source.posts(limit),
  authors: () => AUTHORS,
};

const mutation: Record<string, Resolve<unknown>> = {
  createPost: (_, { input }, { source }) =>
    source.createPost(input.title, input.body, Number(input.authorId)),
};

const user: Record<string, Resolve<User>> = {
  posts: ({ id }, _, { posts }) => posts.load(id),
  initials: ({ name }) => initialsOf(name),
};

const post: Record<string, Resolve<Post>> = {
  author: ({ author_id }, _, context) => context.user.load(author_id),
};

const author: Record<string, Resolve<{ name: string }>> = {
  md5: ({ name }) => hash('md5', name),
};

/** The schema of the benchmark, with resolvers and loaders as people write them. */
export function peerSchema(): GraphQLSchema {
  const schema = buildSchema(SDL.replace(' @computed', ''));
  attach(schema, 'Query', query);
  attach(schema, 'Mutation', mutation);
  attach(schema, 'User', user);
  attach(schema, 'Post', post);
  attach(schema, 'Author', author);
  return schema;
}

function attach(
  schema: GraphQLSchema,
  type: string,
  resolvers: Record<string, Resolve<any>>,
): void {
  const fields = (schema.getType(type) as GraphQLObjectType).getFields();
  for (const [name, resolve] of Object.entries(resolvers))
    Object.assign(fields[name] ?? {}, { resolve });
}
