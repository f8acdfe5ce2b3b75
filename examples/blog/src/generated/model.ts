// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { type Model, duration, size } from '@twofold/runtime';

/** The parts of the model that are not in the SDL: tables, inputs and access rules. */
export const model = {
  name: 'blog',
  ids: 'integer',
  entities: {
    Author: {
      singular: 'author',
      plural: 'authors',
      table: 'authors',
      columns: {
        id: 'id!',
        name: 'text!',
        email: { type: 'text!', unique: true },
      },
    },
    Comment: {
      singular: 'comment',
      plural: 'comments',
      table: 'comments',
      columns: {
        id: 'id!',
        text: 'text!',
        post_id: { type: 'id!', references: { entity: 'Post', onDelete: 'restrict' } },
        created_at: { type: 'timestamp!', field: 'createdAt', stamp: 'created' },
      },
      indexes: [{ name: 'comments_post_id_index', columns: ['post_id'], unique: false }],
    },
    Post: {
      singular: 'post',
      plural: 'posts',
      table: 'posts',
      columns: {
        id: 'id!',
        title: 'text!',
        body: 'text!',
        status: { type: 'text!', default: { kind: 'value', value: 'DRAFT' } },
        author_id: { type: 'id!', references: { entity: 'Author', onDelete: 'restrict' } },
        created_at: { type: 'timestamp!', field: 'createdAt', stamp: 'created' },
        updated_at: { type: 'timestamp!', field: 'updatedAt', stamp: 'updated' },
      },
      indexes: [{ name: 'posts_author_id_index', columns: ['author_id'], unique: false }],
    },
    Tag: {
      singular: 'tag',
      plural: 'tags',
      table: 'tags',
      columns: {
        id: 'id!',
        name: { type: 'text!', unique: true },
      },
    },
  },
  scalars: {
    DateTime: { column: 'timestamp', source: 'known' },
  },
  writes: {
    'CreatePostInput:Post': {
      title: 'title',
      body: 'body',
      status: 'status',
      authorId: { key: 'author' },
      tagIds: { keys: 'tags' },
    },
    'Mutation.createAuthor:Author': 'Author',
    'Mutation.createComment:Comment': { postId: { key: 'post' }, text: 'text' },
    'Mutation.createTag:Tag': 'Tag',
    'UpdatePostInput:Post': { title: 'title', body: 'body', status: 'status', tagIds: { keys: 'tags' } },
  },
  api: {
    path: '/graphql',
    access: 'public',
    crud: false,
    rest: true,
    limits: {
      depth: 12,
      cost: 50000,
      aliases: 30,
      rootFields: 20,
      directives: 50,
      tokens: 2000,
      batch: 0,
      list: 100,
      many: 1000,
      time: duration('10s'),
      result: size('10MiB'),
      memory: size('128MiB'),
    },
    introspection: 'development',
    graphiql: 'development',
    suggestions: 'development',
    trustedDocuments: null,
  },
  server: { port: 8080, host: '127.0.0.1', cors: [], trustedProxies: [], bodyLimit: size('1MiB') },
} satisfies Model;
