import { findCurrentScript } from '../platform/native.ts';
import { startTag } from './start-tag.ts';

startTag(findCurrentScript());
