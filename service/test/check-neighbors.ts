import { afterAll } from 'vitest';
import { checkNeighbors } from './neighbor.ts';

// A setup file for the projects whose tests use databases.
afterAll(checkNeighbors);
