import { databases } from '../store/databases.ts';
import { testMonth } from './changes.ts';

testMonth(databases.find(({ name }) => name === 'PostgreSQL')!);
