// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { type Model, duration, size } from '@twofold/runtime';

/** The parts of the model that are not in the SDL: tables, inputs and access rules. */
export const model = {
  name: 'conduit',
  ids: 'integer',
  entities: {
    Article: {
      singular: 'article',
      plural: 'articles',
      table: 'articles',
      columns: {
        id: 'id!',
        slug: { type: 'text!', unique: true },
        title: { type: 'text!', constraint: { minLength: 1 } },
        description: { type: 'text!', constraint: { minLength: 1 } },
        body: { type: 'text!', constraint: { minLength: 1 } },
        author_id: { type: 'id!', references: { entity: 'User', onDelete: 'restrict' } },
        created_at: { type: 'timestamp!', field: 'createdAt', stamp: 'created' },
        updated_at: { type: 'timestamp!', field: 'updatedAt', stamp: 'updated' },
      },
      indexes: [{ name: 'articles_author_id_index', columns: ['author_id'], unique: false }],
    },
    Comment: {
      singular: 'comment',
      plural: 'comments',
      table: 'comments',
      columns: {
        id: 'id!',
        body: { type: 'text!', constraint: { minLength: 1 } },
        article_id: { type: 'id!', references: { entity: 'Article', onDelete: 'cascade' } },
        author_id: { type: 'id!', references: { entity: 'User', onDelete: 'restrict' } },
        created_at: { type: 'timestamp!', field: 'createdAt', stamp: 'created' },
        updated_at: { type: 'timestamp!', field: 'updatedAt', stamp: 'updated' },
      },
      indexes: [
        { name: 'comments_article_id_index', columns: ['article_id'], unique: false },
        { name: 'comments_author_id_index', columns: ['author_id'], unique: false },
      ],
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
    User: {
      singular: 'user',
      plural: 'users',
      table: 'users',
      columns: {
        id: 'id!',
        email: { type: 'text!', unique: true },
        username: { type: 'text!', unique: true },
        bio: 'text',
        image: 'text',
      },
      indexes: [
        { name: 'users_email_identity_key', columns: ['email'], unique: true, fold: 'letters' },
        { name: 'users_username_identity_key', columns: ['username'], unique: true, fold: 'letters' },
      ],
    },
  },
  objects: {
    ArticleAggregate: 'aggregate',
  },
  scalars: {
    DateTime: { column: 'timestamp', source: 'known' },
  },
  writes: {
    'ArticleInput:Article': {
      title: { column: 'title', constraint: { minLength: 1 } },
      description: { column: 'description', constraint: { minLength: 1 } },
      body: { column: 'body', constraint: { minLength: 1 } },
      tags: {
        nested: 'tags',
        connectOrCreate: {
          name: 'connectOrCreate',
          by: [{ 'where.name': 'name' }],
          create: { name: 'create', shape: 'NewTag:Tag' },
        },
        set: 'set',
        setBy: [{ name: 'name' }],
      },
    },
    'ArticlePatch:Article': {
      title: { column: 'title', constraint: { minLength: 1 } },
      description: { column: 'description', constraint: { minLength: 1 } },
      body: { column: 'body', constraint: { minLength: 1 } },
      tags: {
        nested: 'tags',
        connectOrCreate: {
          name: 'connectOrCreate',
          by: [{ 'where.name': 'name' }],
          create: { name: 'create', shape: 'NewTag:Tag' },
        },
        set: 'set',
        setBy: [{ name: 'name' }],
      },
    },
    'NewTag:Tag': 'Tag',
  },
  filters: {
    ArticleFilter: {
      entity: 'Article',
      fields: {
        author: { one: 'author', shape: 'UserFilter' },
        tags: { many: 'tags', quantifiers: ['some'], shape: 'TagFilter' },
        favoritedBy: { many: 'favoritedBy', quantifiers: ['some'], shape: 'UserFilter' },
      },
    },
    TagFilter: { entity: 'Tag', fields: { name: 'name: eq' } },
    UserFilter: {
      entity: 'User',
      fields: {
        id: { equals: 'id' },
        username: 'username: eq',
        followers: { many: 'followers', quantifiers: ['some'], shape: 'UserFilter' },
      },
    },
  },
  orders: {
    ArticleOrder: { entity: 'Article', kind: 'fields', fields: [{ name: 'createdAt', column: 'created_at' }] },
    CommentOrder: { entity: 'Comment', kind: 'fields', fields: [{ name: 'createdAt', column: 'created_at' }] },
  },
  access: {
    Article: [
      { allow: ['PUBLIC'], roles: [], on: ['READ'] },
      { allow: ['OWNER'], roles: [], owner: 'author_id', on: ['CREATE', 'UPDATE', 'DELETE'] },
    ],
    Comment: [
      { allow: ['PUBLIC'], roles: [], on: ['READ'] },
      { allow: ['OWNER'], roles: [], owner: 'author_id', on: ['CREATE', 'UPDATE', 'DELETE'] },
    ],
    Tag: [{ allow: ['PUBLIC'], roles: [], on: ['READ'] }, { allow: ['USER'], roles: [], on: ['CREATE'] }],
    User: [
      { allow: ['PUBLIC'], roles: [], on: ['READ'] },
      { allow: ['OWNER'], roles: [], owner: 'id', on: ['UPDATE'] },
      { allow: [], roles: [], on: ['CREATE', 'DELETE'], implied: true },
    ],
    'User.email': [{ allow: ['OWNER'], roles: [], owner: 'id', on: ['READ'], implied: true }],
  },
  constraints: {
    'NewArticle.body': { minLength: 1 },
    'NewArticle.description': { minLength: 1 },
    'NewArticle.title': { minLength: 1 },
    'NewComment.body': { minLength: 1 },
  },
  api: {
    path: '/graphql',
    access: 'user',
    crud: false,
    rest: false,
    limits: {
      depth: 12,
      cost: 50000,
      aliases: 30,
      rootFields: 20,
      directives: 50,
      tokens: 2000,
      batch: 0,
      list: 1000,
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
  server: { port: 8080, host: '0.0.0.0', cors: [], trustedProxies: [], bodyLimit: size('1MiB') },
} satisfies Model;
