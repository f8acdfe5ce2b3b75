import type { MigrationStep } from '@twofold/runtime';

export const steps: MigrationStep[] = [
  {
    kind: 'createTable',
    table: {
      name: 'teams',
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
      name: 'hosted_apps',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'name', type: 'text', required: true, unique: true },
        {
          name: 'team_id',
          type: 'id',
          required: false,
          unique: false,
          references: { table: 'teams', column: 'id', onDelete: 'set null' },
        },
      ],
      primaryKey: ['id'],
      indexes: [{ name: 'hosted_apps_team_id_index', columns: ['team_id'], unique: false }],
    },
  },
];
