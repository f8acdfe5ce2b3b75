import { execFileSync } from 'node:child_process';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { totpCode } from '../auth/totp-code.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, GOOD, OPERATOR, startConsole } from './server.ts';

const MANIFEST = `
name: shop
api: { rest: true, access: public }
auth:
  roles: { list: [Owner, Support, Member], first: Owner, default: Member }
  email_sign_in: code
console: { roles: { Owner: ["*"], Support: ["data:read"] } }
`;
