"""Nothing secret leaves the house: keys are looked for in what is published, exported, backed up.

Pure: texts and frames in, masked ones or an error out. Imports the configuration's place, for the
names of the variables with keys. Writes no table.
"""
