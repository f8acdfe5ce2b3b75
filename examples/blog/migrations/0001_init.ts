import type { MigrationStep } from '@twofold/runtime';

export const steps: MigrationStep[] = [
  {
    kind: 'createTable',
    table: {
      name: 'authors',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'name', type: 'text', required: true, unique: false },
        { name: 'email', type: 'text', required: true, unique: true },
      ],
      primaryKey: ['id'],
      indexes: [],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'posts',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'title', type: 'text', required: true, unique: false },
        { name: 'body', type: 'text', required: true, unique: false },
        {
          name: 'status',
          type: 'text',
          required: true,
          unique: false,
          default: { kind: 'value', value: 'DRAFT' },
          values: ['DRAFT', 'PUBLISHED'],
        },
        {
          name: 'author_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'authors', column: 'id', onDelete: 'restrict' },
        },
        { name: 'created_at', type: 'timestamp', required: true, unique: false },
        { name: 'updated_at', type: 'timestamp', required: true, unique: false },
      ],
      primaryKey: ['id'],
      indexes: [{ name: 'posts_author_id_index', columns: ['author_id'], unique: false }],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'comments',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'text', type: 'text', required: true, unique: false },
        {
          name: 'post_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'posts', column: 'id', onDelete: 'restrict' },
        },
        { name: 'created_at', type: 'timestamp', required: true, unique: false },
      ],
      primaryKey: ['id'],
      indexes: [{ name: 'comments_post_id_index', columns: ['post_id'], unique: false }],
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
      name: 'post_tags',
      columns: [
        {
          name: 'post_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'posts', column: 'id', onDelete: 'cascade' },
        },
        {
          name: 'tag_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'tags', column: 'id', onDelete: 'cascade' },
        },
      ],
      primaryKey: ['post_id', 'tag_id'],
      indexes: [{ name: 'post_tags_tag_id_index', columns: ['tag_id'], unique: false }],
    },
  },
];
