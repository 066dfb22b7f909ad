import { afterAll, beforeAll } from 'vitest';
import { checkNeighbor, plantNeighbor } from './neighbor.ts';

// A setup file for the browser tests.
beforeAll(plantNeighbor);
afterAll(checkNeighbor);
