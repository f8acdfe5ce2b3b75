import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../backup-shapes.ts';
import {
  body,
  changesSystem,
  onApp,
  onEngine,
  reads,
  readsSystem,
  REFUSED,
  refused,
  response,
  wait,
  writes,
} from './parts.ts';

/** The endpoints of backups, and of the places where they are stored. */
export const backupRoutes = [
  {
    ...{
      id: 'createBackup',
      method: 'POST',
      path: '/api/apps/:name/backups',
      ...writes,
      summary: 'Starts a backup of the app: its dump, or an archive of its volumes',
    },
    query: wait,
    responses: {
      200: response('The backup, which has ended', shape.backup),
      202: response('The backup, which runs', shape.backup),
      ...onEngine,
    },
  },
  {
    ...{
      id: 'listBackups',
      method: 'GET',
      path: '/api/apps/:name/backups',
      ...reads,
      summary: 'Lists the backups of the app, newest first',
    },
    responses: { 200: response('The backups', shape.backupList), ...onApp },
  },
  {
    ...{
      id: 'getBackup',
      method: 'GET',
      path: '/api/apps/:name/backups/:id',
      ...reads,
      summary: 'Returns one backup',
    },
    responses: { 200: response('The backup', shape.backup), ...onApp },
  },
  {
    ...{
      id: 'deleteBackup',
      method: 'DELETE',
      path: '/api/apps/:name/backups/:id',
      ...writes,
      summary: 'Deletes a backup and its bytes',
    },
    responses: { 200: response('It was removed'), ...onApp, 409: REFUSED, 422: REFUSED },
  },
  {
    ...{
      id: 'restoreBackup',
      method: 'POST',
      path: '/api/apps/:name/backups/:id/restore',
      ...writes,
      summary: 'Puts a backup in the place of the data of the app, or into a new app beside it',
      description:
        'With `confirm`, the name of the app: stops the app, backs up what is there, restores and starts. A backup that cannot be restored changes nothing; the reason is in `error` of the app. With `into`, the name of a new app: makes it from the backup, with its environment and secrets, and leaves the app as it is.',
    },
    query: wait,
    body: body(shape.restoreBody),
    responses: {
      200: response('The restore, which has ended', shape.restored),
      202: response('The restore, which runs', shape.restored),
      ...onEngine,
      422: REFUSED,
    },
  },
  {
    ...{
      id: 'verifyBackup',
      method: 'POST',
      path: '/api/apps/:name/backups/:id/verify',
      ...writes,
      summary: 'Restores a backup into a throwaway copy, starts it and compares its files',
    },
    query: wait,
    responses: {
      200: response('The backup, which was tried', shape.backup),
      202: response('The backup, which is tried', shape.backup),
      ...onEngine,
    },
  },
  {
    ...{
      id: 'createSystemBackup',
      method: 'POST',
      path: '/api/system/backups',
      ...changesSystem,
      summary: 'Starts a backup of the server itself: database, sealing keys, descriptions of apps',
      description: 'It has all secrets of the server, so `BACKUP_KEY` must be set.',
    },
    query: wait,
    audit: { values: ['target'] },
    body: body(shape.systemBackupBody),
    responses: {
      200: response('The backup, which has ended', shape.backup),
      202: response('The backup, which runs', shape.backup),
      ...onApp,
      409: REFUSED,
      503: REFUSED,
    },
  },
  {
    ...{
      id: 'listSystemBackups',
      method: 'GET',
      path: '/api/system/backups',
      ...readsSystem,
      summary: 'Lists the backups of the server itself, newest first',
    },
    responses: { 200: response('The backups', shape.backupList), ...refused },
  },
  {
    ...{
      id: 'getSystemBackup',
      method: 'GET',
      path: '/api/system/backups/:id',
      ...readsSystem,
      summary: 'Returns one backup of the server itself',
    },
    responses: { 200: response('The backup', shape.backup), ...onApp },
  },
  {
    ...{
      id: 'deleteSystemBackup',
      method: 'DELETE',
      path: '/api/system/backups/:id',
      ...changesSystem,
      summary: 'Deletes a backup of the server itself and its bytes',
    },
    responses: { 200: response('It was removed'), ...onApp, 409: REFUSED, 422: REFUSED },
  },
  {
    ...{
      id: 'listBackupTargets',
      method: 'GET',
      path: '/api/backup-targets',
      ...readsSystem,
      summary: 'Lists the places where backups are stored, without their keys',
    },
    responses: { 200: response('The targets', shape.targetList), ...refused },
  },
  {
    ...{
      id: 'putBackupTarget',
      method: 'PUT',
      path: '/api/backup-targets/:name',
      ...changesSystem,
      summary: 'Adds or replaces a place for backups, after it was tried',
    },
    audit: { values: ['kind', 'endpoint', 'bucket', 'path'] },
    body: body(shape.targetBody),
    responses: { 200: response('The target', shape.target), ...refused, 422: REFUSED },
  },
  {
    ...{
      id: 'deleteBackupTarget',
      method: 'DELETE',
      path: '/api/backup-targets/:name',
      ...changesSystem,
      summary: 'Removes a place for backups that has none',
    },
    responses: { 200: response('It was removed'), ...onApp, 409: REFUSED },
  },
] as const satisfies readonly RouteSpec[];
