export { createHosting, type HostingOptions } from './hosting.ts';
export { hostingMigrations } from './records/migrations.ts';
