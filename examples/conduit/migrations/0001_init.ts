import type { MigrationStep } from '@twofold/runtime';

export const steps: MigrationStep[] = [
  {
    kind: 'createTable',
    table: {
      name: 'users',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'email', type: 'text', required: true, unique: true },
        { name: 'username', type: 'text', required: true, unique: true },
        { name: 'bio', type: 'text', required: false, unique: false },
        { name: 'image', type: 'text', required: false, unique: false },
      ],
      primaryKey: ['id'],
      indexes: [
        { name: 'users_email_identity_key', columns: ['email'], unique: true, fold: 'letters' },
        { name: 'users_username_identity_key', columns: ['username'], unique: true, fold: 'letters' },
      ],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'articles',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'slug', type: 'text', required: true, unique: true },
        { name: 'title', type: 'text', required: true, unique: false, constraint: { minLength: 1 } },
        { name: 'description', type: 'text', required: true, unique: false, constraint: { minLength: 1 } },
        { name: 'body', type: 'text', required: true, unique: false, constraint: { minLength: 1 } },
        {
          name: 'author_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'users', column: 'id', onDelete: 'restrict' },
        },
        { name: 'created_at', type: 'timestamp', required: true, unique: false },
        { name: 'updated_at', type: 'timestamp', required: true, unique: false },
      ],
      primaryKey: ['id'],
      indexes: [{ name: 'articles_author_id_index', columns: ['author_id'], unique: false }],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'comments',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'body', type: 'text', required: true, unique: false, constraint: { minLength: 1 } },
        {
          name: 'article_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'articles', column: 'id', onDelete: 'cascade' },
        },
        {
          name: 'author_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'users', column: 'id', onDelete: 'restrict' },
        },
        { name: 'created_at', type: 'timestamp', required: true, unique: false },
        { name: 'updated_at', type: 'timestamp', required: true, unique: false },
      ],
      primaryKey: ['id'],
      indexes: [
        { name: 'comments_article_id_index', columns: ['article_id'], unique: false },
        { name: 'comments_author_id_index', columns: ['author_id'], unique: false },
      ],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'tags',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'name', type: 'text', required: true, unique: true },
      ],
      primaryKey: ['id'],
      indexes: [],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'follows',
      columns: [
        {
          name: 'follower_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'users', column: 'id', onDelete: 'cascade' },
        },
        {
          name: 'user_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'users', column: 'id', onDelete: 'cascade' },
        },
      ],
      primaryKey: ['follower_id', 'user_id'],
      indexes: [{ name: 'follows_user_id_index', columns: ['user_id'], unique: false }],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'article_favorited_by',
      columns: [
        {
          name: 'user_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'users', column: 'id', onDelete: 'cascade' },
        },
        {
          name: 'article_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'articles', column: 'id', onDelete: 'cascade' },
        },
      ],
      primaryKey: ['user_id', 'article_id'],
      indexes: [{ name: 'article_favorited_by_article_id_index', columns: ['article_id'], unique: false }],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'article_tags',
      columns: [
        {
          name: 'article_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'articles', column: 'id', onDelete: 'cascade' },
        },
        {
          name: 'tag_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'tags', column: 'id', onDelete: 'cascade' },
        },
      ],
      primaryKey: ['article_id', 'tag_id'],
      indexes: [{ name: 'article_tags_tag_id_index', columns: ['tag_id'], unique: false }],
    },
  },
];
