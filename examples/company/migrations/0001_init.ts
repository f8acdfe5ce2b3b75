import type { MigrationStep } from '@twofold/runtime';

export const steps: MigrationStep[] = [
  {
    kind: 'createTable',
    table: {
      name: 'users',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'name', type: 'text', required: true, unique: false },
        { name: 'email', type: 'text', required: true, unique: true },
        { name: 'company_id', type: 'id', required: false, unique: false },
      ],
      primaryKey: ['id'],
      indexes: [
        { name: 'users_company_id_index', columns: ['company_id'], unique: false },
        { name: 'users_email_identity_key', columns: ['email'], unique: true, fold: 'letters' },
      ],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'companies',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'name', type: 'text', required: true, unique: false },
        {
          name: 'owner_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'users', column: 'id', onDelete: 'restrict' },
        },
      ],
      primaryKey: ['id'],
      indexes: [{ name: 'companies_owner_id_index', columns: ['owner_id'], unique: false }],
    },
  },
  {
    kind: 'createTable',
    table: {
      name: 'projects',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'title', type: 'text', required: true, unique: false },
        {
          name: 'done',
          type: 'boolean',
          required: true,
          unique: false,
          default: { kind: 'value', value: false },
        },
        {
          name: 'company_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'companies', column: 'id', onDelete: 'restrict' },
        },
        {
          name: 'owner_id',
          type: 'id',
          required: true,
          unique: false,
          references: { table: 'users', column: 'id', onDelete: 'restrict' },
        },
        { name: 'created_at', type: 'timestamp', required: true, unique: false },
      ],
      primaryKey: ['id'],
      indexes: [
        { name: 'projects_company_id_index', columns: ['company_id'], unique: false },
        { name: 'projects_owner_id_index', columns: ['owner_id'], unique: false },
      ],
    },
  },
  {
    kind: 'alterTable',
    table: 'users',
    changes: [
      {
        kind: 'alter',
        before: { name: 'company_id', type: 'id', required: false, unique: false },
        after: {
          name: 'company_id',
          type: 'id',
          required: false,
          unique: false,
          references: { table: 'companies', column: 'id', onDelete: 'set null' },
        },
      },
    ],
  },
];
