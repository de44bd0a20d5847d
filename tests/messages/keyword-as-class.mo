model record
end record;
